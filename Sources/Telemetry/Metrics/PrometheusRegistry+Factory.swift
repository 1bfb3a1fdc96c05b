public import Metrics

extension PrometheusRegistry: MetricsFactory {
  /// Creates a counter. Appends `_total` to its name if necessary.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    self.value(.counter, label, dimensions)
  }

  /// Creates a counter. Appends `_total` to its name if necessary.
  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    self.value(.counter, label, dimensions)
  }

  /// Creates a gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    self.value(.gauge, label, dimensions)
  }

  /// Creates a histogram with ``valueBounds`` if it aggregates, else a gauge.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? self.histogram(label, dimensions, bounds: Self.valueBounds)
      : self.value(.gauge, label, dimensions)
  }

  /// Creates a histogram in seconds, with ``durationBounds``.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    self.histogram(label, dimensions, bounds: Self.durationBounds)
  }

  /// Removes the counter.
  public func destroyCounter(_ handler: any CounterHandler) { self.destroy(handler) }

  /// Removes the counter.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    self.destroy(handler)
  }

  /// Removes the gauge.
  public func destroyMeter(_ handler: any MeterHandler) { self.destroy(handler) }

  /// Removes the histogram or gauge.
  public func destroyRecorder(_ handler: any RecorderHandler) { self.destroy(handler) }

  /// Removes the histogram.
  public func destroyTimer(_ handler: any TimerHandler) { self.destroy(handler) }
}
