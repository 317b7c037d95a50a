/** Databases of version 5 of the schema, as the plantstore of that version made them. */
import { runSql } from "../../helpers/postgres.ts";

const schema = `
  CREATE TABLE plantstore_migrations (
    version int8 PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE plants (
    id int8 PRIMARY KEY,
    name text NOT NULL,
    tag text,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
  );
  CREATE INDEX plantstore_feed ON plants (xid, id);
  CREATE TABLE plantstore_deletions (
    id int8 PRIMARY KEY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
  );
  CREATE INDEX plantstore_deletions_feed ON plantstore_deletions (xid, id);
  CREATE TABLE plantstore_tokens (
    digest text PRIMARY KEY,
    prefix text NOT NULL,
    name text NOT NULL,
    issued_at int8 NOT NULL,
    expires_at int8,
    revoked_at int8,
    last_used_day int8,
    added int8 NOT NULL GENERATED ALWAYS AS IDENTITY
  );
  CREATE FUNCTION plantstore_set_xid() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.xid = pg_current_xact_id(); RETURN NEW; END $$;
  CREATE TRIGGER plantstore_set_xid BEFORE INSERT ON plants
    FOR EACH ROW WHEN (NEW.xid <> pg_current_xact_id()) EXECUTE FUNCTION plantstore_set_xid();
  CREATE TRIGGER plantstore_renew_xid BEFORE UPDATE ON plants
    FOR EACH ROW WHEN (NEW.xid = OLD.xid) EXECUTE FUNCTION plantstore_set_xid();
  CREATE FUNCTION plantstore_add_deletions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE format('INSERT INTO %I.plantstore_deletions (id) SELECT id FROM deleted ORDER BY id
        ON CONFLICT (id) DO UPDATE SET xid = excluded.xid', TG_TABLE_SCHEMA);
      RETURN NULL;
    END $$;
  CREATE TRIGGER plantstore_add_deletions AFTER DELETE ON plants REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION plantstore_add_deletions();
  CREATE TABLE plantstore_token_version (version uuid NOT NULL);
  GRANT SELECT ON plantstore_token_version TO PUBLIC;
  INSERT INTO plantstore_token_version (version) VALUES (gen_random_uuid());
  CREATE FUNCTION plantstore_change_token_version() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog AS $$
    BEGIN
      EXECUTE format('UPDATE %I.plantstore_token_version SET version = gen_random_uuid()', TG_TABLE_SCHEMA);
      RETURN NULL;
    END $$;
  REVOKE ALL ON FUNCTION plantstore_change_token_version() FROM PUBLIC;
  CREATE TRIGGER plantstore_change_token_version
    AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF digest, expires_at, revoked_at ON plantstore_tokens
    FOR EACH STATEMENT EXECUTE FUNCTION plantstore_change_token_version();
  INSERT INTO plantstore_migrations (version) VALUES (3), (4), (5);
`;

/** The plants of {@link createVersion5}, without those that were deleted. */
export const plants = [
  { id: -(2n ** 63n), name: "\0␛", tag: "" },
  { id: 1n, name: "fern", tag: "pot" },
];

/** The token of {@link createVersion5}. */
export const token = {
  digest: "ab",
  prefix: "pst_abcd",
  name: "ci",
  issuedAtMs: 1,
  revokedAtMs: 2,
};

/** Creates the tables with plants and a token in an empty schema. */
export async function createVersion5(url: string): Promise<void> {
  await runSql(url, schema);
  await runSql(
    url,
    `INSERT INTO plants VALUES (1, 'fern', 'pot'), (7, 'deleted', NULL), (-9223372036854775808, '␛␀␛␛', '');
    DELETE FROM plants WHERE id = 7;
    INSERT INTO plantstore_tokens VALUES ('ab', 'pst_abcd', 'ci', 1, NULL, 2)`,
  );
}
