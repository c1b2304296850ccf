#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace drs {

/**
 * The only mechanism for deadline and cancellation. Each call has a token, and each loop and each wait checks it. The
 * token stops once and permanently, either by `cancel` or by itself when the call's time is up. Any thread may use it.
 */
class Token {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Token(Clock::duration budget) : deadline_(Clock::now() + budget) {}

  void cancel() {
    {
      std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    changed_.notify_all();
  }

  /** Whether the caller has stopped waiting. If so, work ends when it next calls this function. */
  bool stopped() const { return cancelled_ || Clock::now() >= deadline_; }

 private:
  template <class Value>
  friend class Handover;

  const Clock::time_point deadline_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

/** One value that one thread waits for and another thread gives. The wait ends when the token of the call stops. */
template <class Value>
class Handover {
 public:
  explicit Handover(std::shared_ptr<Token> token) : token_(std::move(token)) {}

  /** Accepts the first value. Later values are dropped, and so is a value that arrives after the waiting has ended. */
  void give(Value value) {
    {
      std::lock_guard lock(token_->mutex_);
      if (!value_) value_ = std::move(value);
    }
    token_->changed_.notify_all();
  }

  /** @return no value if the token has stopped, or if `bound` passed before a value came. */
  std::optional<Value> take(Token::Clock::duration bound) {
    const auto until = std::min(Token::Clock::now() + bound, token_->deadline_);
    std::unique_lock lock(token_->mutex_);
    token_->changed_.wait_until(lock, until, [this] { return value_.has_value() || token_->cancelled_; });
    return token_->stopped() ? std::nullopt : value_;
  }

 private:
  const std::shared_ptr<Token> token_;
  std::optional<Value> value_;
};

}  // namespace drs
