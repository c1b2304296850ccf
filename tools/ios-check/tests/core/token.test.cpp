#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "../../../../packages/react-native/ios/core/Calls.h"

using namespace drs;
using namespace std::chrono_literals;

namespace {
constexpr double kEndless = std::numeric_limits<double>::infinity();

Token::Clock::duration since(Token::Clock::time_point start) { return Token::Clock::now() - start; }
}  // namespace

TEST_CASE("a token stops by itself when its time is up") {
  Token token(20ms);
  CHECK_FALSE(token.stopped());
  std::this_thread::sleep_for(30ms);
  CHECK(token.stopped());
}

TEST_CASE("a cancelled token has stopped permanently") {
  Token token(1h);
  token.cancel();
  token.cancel();
  CHECK(token.stopped());
}

TEST_CASE("a value is handed over from another thread") {
  const auto token = std::make_shared<Token>(10s);
  const auto handover = std::make_shared<Handover<int>>(token);
  std::thread giver([handover] { handover->give(7); });
  CHECK(handover->take(10s) == 7);
  giver.join();
}

TEST_CASE("the first value counts") {
  Handover<int> handover(std::make_shared<Token>(10s));
  handover.give(1);
  handover.give(2);
  CHECK(handover.take(10s) == 1);
}

TEST_CASE("waiting ends with the bound, the deadline or the cancellation, whichever is first") {
  const auto start = Token::Clock::now();
  CHECK_FALSE(Handover<int>(std::make_shared<Token>(10s)).take(10ms));
  CHECK_FALSE(Handover<int>(std::make_shared<Token>(10ms)).take(10s));
  const auto token = std::make_shared<Token>(10s);
  std::thread canceller([token] {
    std::this_thread::sleep_for(10ms);
    token->cancel();
  });
  CHECK_FALSE(Handover<int>(token).take(10s));
  canceller.join();
  CHECK(since(start) < 5s);
}

TEST_CASE("a value that comes after the stop is dropped") {
  const auto token = std::make_shared<Token>(10s);
  Handover<int> handover(token);
  token->cancel();
  handover.give(1);
  CHECK_FALSE(handover.take(10s));
}

TEST_CASE("cancelling a call stops this call and no other one") {
  Calls calls;
  const auto one = calls.begin("1", 60000);
  const auto other = calls.begin("2", 60000);
  calls.cancel("1");
  calls.cancel("unknown");
  CHECK(one->stopped());
  CHECK_FALSE(other->stopped());
}

TEST_CASE("calls of the same name are cancelled together and end apart") {
  Calls calls;
  const auto one = calls.begin("1", 60000);
  const auto other = calls.begin("1", 60000);
  calls.end("1", one);
  calls.cancel("1");
  CHECK_FALSE(one->stopped());
  CHECK(other->stopped());
}

TEST_CASE("all calls are cancelled at once") {
  Calls calls;
  const auto one = calls.begin("1", 60000);
  const auto other = calls.begin("2", 60000);
  calls.cancelAll();
  CHECK(one->stopped());
  CHECK(other->stopped());
}

TEST_CASE("an invalid bound stops the call at once; an endless one is cut") {
  Calls calls;
  for (const double none : {0.0, -1.0, -kEndless, std::nan("")}) CHECK(calls.begin("1", none)->stopped());
  for (const double endless : {1e300, kEndless}) CHECK_FALSE(calls.begin("1", endless)->stopped());
}
