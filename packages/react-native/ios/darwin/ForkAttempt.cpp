#include "ForkAttempt.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace drs {

namespace {

constexpr useconds_t kPauseMicroseconds = 1000;

void reap(pid_t child, const Token &token) {
  while (true) {
    const pid_t done = waitpid(child, nullptr, WNOHANG);
    if (done == child || (done < 0 && errno != EINTR)) return;
    if (token.stopped()) break;
    usleep(kPauseMicroseconds);
  }
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
}

}  // namespace

int attemptFork(const Token &token) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0) return errno;
  reap(child, token);
  return 0;
}

}  // namespace drs
