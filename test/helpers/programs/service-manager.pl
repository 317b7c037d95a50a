# Plays the service manager: opens a socket, and passes it to a command as descriptor 3. When the command has ended, starts
# it again. Arguments: "tcp" or the path of a Unix socket, then the command. Prints the process id of each start.
use strict;
use warnings;
use POSIX ();
use Socket;

my ($place, @command) = @ARGV;
$| = 1;
$^F = 255;    # Descriptors up to this one stay open in the command.
my ($domain, $address) =
  $place eq "tcp"
  ? (PF_INET, pack_sockaddr_in(0, INADDR_LOOPBACK))
  : (PF_UNIX, pack_sockaddr_un($place));
socket(my $socket, $domain, SOCK_STREAM, 0) or die "socket: $!";
bind($socket, $address) or die "bind: $!";
listen($socket, 128) or die "listen: $!";
POSIX::dup2(fileno($socket), 3) // die "dup2: $!";
while (1) {
    my $process = fork() // die "fork: $!";
    if ($process == 0) {
        @ENV{"LISTEN_PID", "LISTEN_FDS"} = ($$, 1);
        exec(@command) or die "exec: $!";
    }
    print "started $process\n";
    waitpid($process, 0);
    print "ended $?\n";
}
