package io.devicerisksignals.call

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

class CallsTest {
  private class Recorded : Settlement<String> {
    private val end = CompletableFuture<String>()
    val settlements = AtomicInteger()

    override fun answered(answer: String) = settle(answer)

    override fun rejected(code: RejectionCode) = settle(code.wireName)

    private fun settle(text: String) {
      settlements.incrementAndGet()
      end.complete(text)
    }

    fun await(): String = end.get(10, TimeUnit.SECONDS)
  }

  private fun Calls.start(name: String, timeoutMs: Long = 10_000, work: (CallToken) -> String) =
    Recorded().also { start(name, timeoutMs, it, work) }

  @Test
  fun `a call answers, or is rejected with a code and no message`() {
    val calls = Calls()
    assertEquals("done", calls.start("1") { "done" }.await())
    assertEquals("failed", calls.start("2") { error("/secret/path") }.await())
    assertEquals("failed", calls.start("3") { throw StackOverflowError() }.await())
  }

  @Test
  fun `an exception of a receiver does not end the thread`() {
    val calls = Calls(threads = 1)
    val threads = LinkedBlockingQueue<Thread>()
    val failingReceiver = object : Settlement<String> {
      override fun answered(answer: String): Unit = error("answered")

      override fun rejected(code: RejectionCode): Unit = error("rejected")
    }
    val work = { threads += Thread.currentThread() }
    calls.start("1", 10_000, failingReceiver) { "".also { work() } }
    calls.start("2", 10_000, failingReceiver) { error("".also { work() }) }
    assertEquals("done", calls.start("3") { "done".also { work() } }.await())
    assertEquals(1, threads.toSet().size)
    assertEquals(3, threads.size)
  }

  @Test
  fun `a loop that checks the token ends when its call is cancelled`() {
    val calls = Calls()
    val begun = CountDownLatch(1)
    val ended = CountDownLatch(1)
    val recorded = calls.start("loop") { token ->
      begun.countDown()
      try {
        while (true) token.check()
        @Suppress("UNREACHABLE_CODE")
        ""
      } finally {
        ended.countDown()
      }
    }
    begun.await()
    calls.cancel("loop")
    assertEquals("cancelled", recorded.await())
    assertTrue(ended.await(10, TimeUnit.SECONDS))
  }

  @Test
  fun `a call whose work ignores the token ends at the deadline, and the late answer is dropped`() {
    val calls = Calls()
    val release = CountDownLatch(1)
    val done = CountDownLatch(1)
    // The time limit is long enough for the call to start on a busy machine.
    val recorded = calls.start("held", timeoutMs = 1_500) {
      release.await()
      done.countDown()
      "late"
    }
    assertEquals("cancelled", recorded.await())
    release.countDown()
    assertTrue(done.await(10, TimeUnit.SECONDS))
    assertEquals(1, recorded.settlements.get())
  }

  @Test
  fun `a call that waits for a thread past its deadline never starts`() {
    val calls = Calls(threads = 1)
    val release = CountDownLatch(1)
    val begun = AtomicInteger()
    calls.start("held") { release.await().toString() }
    val waiting = calls.start("waiting", timeoutMs = 50) { begun.incrementAndGet().toString() }
    assertEquals("cancelled", waiting.await())
    release.countDown()
    assertEquals("next", calls.start("next") { "next" }.await())
    assertEquals(0, begun.get())
  }

  @Test
  fun `the number of waiting calls is bounded`() {
    val calls = Calls(threads = 1, queue = 1)
    val release = CountDownLatch(1)
    val held = calls.start("held") { release.await().toString() }
    val waiting = calls.start("waiting") { "waited" }
    assertEquals("failed", calls.start("too many") { "" }.await())
    release.countDown()
    held.await()
    assertEquals("waited", waiting.await())
  }

  @Test
  fun `the deadline of an ended call does not stop a later call with the same name`() {
    val calls = Calls()
    assertEquals("first", calls.start("name", timeoutMs = 500) { "first" }.await())
    val second = calls.start("name") { token ->
      Thread.sleep(600)
      token.check()
      "second"
    }
    assertEquals("second", second.await())
  }

  @Test
  fun `after the end all calls are stopped and no call is accepted`() {
    val calls = Calls()
    val release = CountDownLatch(1)
    val held = calls.start("held") { release.await().toString() }
    calls.close()
    assertEquals("cancelled", held.await())
    assertEquals("failed", calls.start("later") { "" }.await())
  }
}
