package io.devicerisksignals.platform

import kotlin.math.abs
import kotlin.math.ceil
import kotlin.math.sqrt

/** Statistics of samples in the order in which they were taken. A figure that is not defined is NaN. */
internal class Distribution(private val samples: List<Double>) {
  private val sorted = samples.sorted()

  val median: Double
    get() = quantile(MEDIAN)

  val p95: Double
    get() = quantile(P95)

  /** Median absolute deviation from the median. */
  val mad: Double
    get() = Distribution(samples.map { abs(it - median) }).median

  /** Standard deviation divided by the mean. */
  val coefficientOfVariation: Double
    get() = sqrt(samples.sumOf { (it - mean) * (it - mean) } / samples.size) / mean

  /** The rise of the best-fitting straight line from the first sample to the last, divided by the mean. */
  val trend: Double
    get() {
      val middle = (samples.size - 1) / 2.0
      val slope = samples.withIndex().sumOf { (index, sample) -> (index - middle) * (sample - mean) } /
        samples.indices.sumOf { (it - middle) * (it - middle) }
      return slope * (samples.size - 1) / mean
    }

  private val mean: Double
    get() = samples.average()

  /** The quantile by the nearest-rank method, as the TypeScript half calculates it. */
  private fun quantile(share: Double): Double =
    sorted.getOrElse(maxOf(0, ceil(share * sorted.size).toInt() - 1)) { Double.NaN }

  private companion object {
    const val MEDIAN = 0.5
    const val P95 = 0.95
  }
}
