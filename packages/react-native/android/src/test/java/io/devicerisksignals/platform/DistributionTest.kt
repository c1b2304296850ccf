package io.devicerisksignals.platform

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

class DistributionTest {
  @Test
  fun `the statistics are those of the samples`() {
    val samples = Distribution(listOf(1.0, 2.0, 3.0, 4.0, 10.0))
    assertEquals(3.0, samples.median, 0.0)
    assertEquals(10.0, samples.p95, 0.0)
    assertEquals(1.0, samples.mad, 0.0)
    assertEquals(0.7906, samples.coefficientOfVariation, 1e-4)
    assertEquals(2.0, samples.trend, 1e-9)
  }

  @Test
  fun `operations that become faster have a trend below zero`() {
    assertEquals(-2.0 / 3, Distribution(listOf(4.0, 3.0, 2.0)).trend, 1e-9)
    assertEquals(0.0, Distribution(listOf(2.0, 2.0)).trend, 0.0)
  }

  @Test
  fun `an empty list of samples has no statistics`() {
    val empty = Distribution(emptyList())
    for (figure in listOf(empty.median, empty.p95, empty.mad, empty.coefficientOfVariation, empty.trend)) {
      assertTrue(figure.isNaN())
    }
  }
}
