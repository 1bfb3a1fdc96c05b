/// How a sample is stored between passes.
package enum SampleDepth: Sendable, Hashable {
  /// A byte: a level 0 ... 255. Frames have it.
  case eight
  /// A signed 16-bit number of 1/32 levels, about -1024 ... 1024: what one pass leaves to the next,
  /// so that nothing is clamped or rounded to a level before the end.
  case deep

  /// The bytes of one sample.
  package var byteCount: Int {
    switch self {
    case .eight: 1
    case .deep: 2
    }
  }
}
