#include "Loopback.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace drs::loopback {

namespace {

constexpr int kSlices = 10;
constexpr int kSliceMilliseconds = 20;

/** A socket that never blocks and is closed at the end of its scope. */
class Socket {
 public:
  Socket() : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (descriptor_ >= 0 && fcntl(descriptor_, F_SETFL, O_NONBLOCK) != 0) shut();
  }
  ~Socket() { shut(); }
  Socket(const Socket &) = delete;
  Socket &operator=(const Socket &) = delete;

  int descriptor() const { return descriptor_; }

 private:
  void shut() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

  int descriptor_;
};

/** errno of a connection attempt; ETIMEDOUT if it did not end in time. */
int outcome(int descriptor, const Token &token) {
  pollfd wait{descriptor, POLLOUT, 0};
  for (int slice = 0; slice < kSlices && !token.stopped(); ++slice) {
    const int ready = poll(&wait, 1, kSliceMilliseconds);
    if (ready < 0 && errno != EINTR) return errno;
    if (ready <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
  }
  return ETIMEDOUT;
}

}  // namespace

Existence listener(std::uint16_t port, const Token &token) {
  const Socket socket;
  if (socket.descriptor() < 0) return Existence::unknown;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket.descriptor(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0) {
    return Existence::present;
  }
  return listenerOf(errno == EINPROGRESS ? outcome(socket.descriptor(), token) : errno);
}

}  // namespace drs::loopback
