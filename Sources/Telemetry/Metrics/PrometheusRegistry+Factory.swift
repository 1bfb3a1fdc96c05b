public import Metrics

extension PrometheusRegistry: MetricsFactory {
  /// A counter; its name ends in `_total`, or is made to.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    self.value(.counter, label, dimensions)
  }

  /// A counter; its name ends in `_total`, or is made to.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    self.value(.counter, label, dimensions)
  }

  /// A gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    self.value(.gauge, label, dimensions)
  }

  /// A histogram with ``valueBounds`` if it aggregates, else a gauge.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? self.histogram(label, dimensions, bounds: Self.valueBounds)
      : self.value(.gauge, label, dimensions)
  }

  /// A histogram in seconds, with ``durationBounds``.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    self.histogram(label, dimensions, bounds: Self.durationBounds)
  }

  /// Leaves the counter out from now on.
  public func destroyCounter(_ handler: any CounterHandler) { self.destroy(handler) }

  /// Leaves the counter out from now on.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    self.destroy(handler)
  }

  /// Leaves the gauge out from now on.
  public func destroyMeter(_ handler: any MeterHandler) { self.destroy(handler) }

  /// Leaves the histogram, or gauge, out from now on.
  public func destroyRecorder(_ handler: any RecorderHandler) { self.destroy(handler) }

  /// Leaves the histogram out from now on.
  public func destroyTimer(_ handler: any TimerHandler) { self.destroy(handler) }
}
