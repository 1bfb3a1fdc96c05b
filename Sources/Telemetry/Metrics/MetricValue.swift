import Metrics
import Synchronization

/// The number behind a counter or a gauge.
final class MetricValue: CounterHandler, FloatingPointCounterHandler, MeterHandler,
  RecorderHandler
{
  private let bits = Atomic<UInt64>(0)

  var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }

  func increment(by amount: Int64) { self.add(Double(amount)) }
  func increment(by amount: Double) { self.add(amount) }
  func decrement(by amount: Double) { self.add(-amount) }
  func set(_ value: Int64) { self.set(Double(value)) }
  func set(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }
  func record(_ value: Int64) { self.set(Double(value)) }
  func record(_ value: Double) { self.set(value) }
  func reset() { self.set(0.0) }

  private func add(_ amount: Double) {
    var old = self.bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (exchanged, original) = self.bits.weakCompareExchange(
        expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = original
    }
  }
}
