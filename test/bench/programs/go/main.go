// Serves creates with net/http and SQLite. One goroutine commits together the creates that are queued, and each response
// waits for its commit.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/mattn/go-sqlite3"
)

// maxBatch limits the number of creates in one commit.
const maxBatch = 4096

type newPlant struct {
	ID   *int64  `json:"id"`
	Name *string `json:"name"`
	Tag  *string `json:"tag"`
}

type plantBody struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

type errorBody struct {
	Error   int    `json:"error"`
	Message string `json:"message"`
}

var errConflict = errors.New("id belongs to a different plant")

// pendingCreate is a create that waits for its commit; done receives nil, errConflict or a failure of the commit.
type pendingCreate struct {
	plant newPlant
	done  chan error
}

// store has a single connection, which only its committing goroutine uses.
type store struct {
	connection     *sql.Conn
	insert, lookup *sql.Stmt
	queue          chan *pendingCreate
}

func openStore(path string) (*store, error) {
	database, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	connection, err := database.Conn(ctx)
	if err != nil {
		return nil, err
	}
	_, err = connection.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT, tag TEXT)")
	if err != nil {
		return nil, err
	}
	insert, err := connection.PrepareContext(ctx, "INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
	if err != nil {
		return nil, err
	}
	lookup, err := connection.PrepareContext(ctx, "SELECT name, tag FROM plants WHERE id = ?")
	if err != nil {
		return nil, err
	}
	return &store{connection, insert, lookup, make(chan *pendingCreate, maxBatch)}, nil
}

// run commits what is queued until the process exits.
func (s *store) run() {
	for first := range s.queue {
		batch := append(make([]*pendingCreate, 0, len(s.queue)+1), first)
		for len(batch) < maxBatch && len(s.queue) > 0 {
			batch = append(batch, <-s.queue)
		}
		results, err := s.commit(batch)
		for index, create := range batch {
			if err != nil {
				create.done <- err
			} else {
				create.done <- results[index]
			}
		}
	}
}

// commit stores a batch. A failure rolls back all of it.
func (s *store) commit(batch []*pendingCreate) ([]error, error) {
	ctx := context.Background()
	if _, err := s.connection.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	results := make([]error, len(batch))
	for index, create := range batch {
		err := s.create(create.plant)
		if err != nil && err != errConflict {
			s.connection.ExecContext(ctx, "ROLLBACK")
			return nil, err
		}
		results[index] = err
	}
	if _, err := s.connection.ExecContext(ctx, "COMMIT"); err != nil {
		s.connection.ExecContext(ctx, "ROLLBACK")
		return nil, err
	}
	return results, nil
}

func (s *store) create(plant newPlant) error {
	result, err := s.insert.Exec(*plant.ID, *plant.Name, plant.Tag)
	if err != nil {
		return err
	}
	if changes, err := result.RowsAffected(); err != nil || changes > 0 {
		return err
	}
	var name string
	var tag *string
	if err := s.lookup.QueryRow(*plant.ID).Scan(&name, &tag); err != nil {
		return err
	}
	isSameTag := (tag == nil) == (plant.Tag == nil) && (tag == nil || *tag == *plant.Tag)
	if name != *plant.Name || !isSameTag {
		return errConflict
	}
	return nil
}

func respond(response http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(status)
	response.Write(body)
}

func (s *store) handler(credential string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost || request.URL.Path != "/plants" {
			respond(response, 404, errorBody{40400, "unknown path"})
			return
		}
		if request.Header.Get("Authorization") != credential {
			respond(response, 400, errorBody{40102, "unknown token"})
			return
		}
		var plant newPlant
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = json.Unmarshal(body, &plant)
		}
		if err != nil || plant.ID == nil || plant.Name == nil {
			respond(response, 400, errorBody{40001, "the body is not a plant"})
			return
		}
		create := &pendingCreate{plant, make(chan error, 1)}
		s.queue <- create
		switch err := <-create.done; err {
		case nil:
			respond(response, 200, plantBody{*plant.Name, plant.Tag})
		case errConflict:
			respond(response, 400, errorBody{40900, err.Error()})
		default:
			log.Print(err)
			respond(response, 500, errorBody{50000, "the commit failed"})
		}
	}
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: main PATH TOKEN")
	}
	store, err := openStore(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	go store.run()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		os.Exit(0)
	}()
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, store.handler("Bearer "+os.Args[2])))
}
