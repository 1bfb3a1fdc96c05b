/// A colour lookup table: three curves, or a cube of colours.
public final class CubeAsset: Sendable {
  /// The shape of a table.
  public enum Shape: Sendable, Hashable {
    /// Three curves, for red, green and blue, of `count` entries: 2 ... ``maxCurveCount``.
    case curves(count: Int)
    /// A cube with `size` entries along every side: 2 ... ``maxCubeSize``.
    case cube(size: Int)

    /// The number of entries.
    var entryCount: Int {
      switch self {
      case .curves(let count): count
      case .cube(let size): size * size * size
      }
    }

    /// The bytes of a table of this shape: the entries, and a second copy in the order that the C
    /// rows read.
    package var byteCount: Int {
      switch self {
      case .curves(let count): 24 * count
      case .cube(let size): 28 * size * size * size
      }
    }
  }

  /// The title in the file; empty by default.
  public let title: String
  /// The shape of the table.
  public let shape: Shape
  /// The red, green and blue of the first entries.
  public let domainLow: SIMD3<Float>
  /// The red, green and blue of the last entries.
  public let domainHigh: SIMD3<Float>
  /// Red, green and blue of every entry; in a cube red changes fastest.
  package let entries: FloatTable
  /// The entries as three consecutive curves; empty for a cube.
  let curves: FloatTable
  /// The entries of a cube as four numbers, the last of them 0, as read by the C rows.
  let texels: FloatTable
  /// Retained for the table's lifetime.
  private let lease: (any AssetLease)?

  /// The maximum number of entries of a curve.
  public static let maxCurveCount = 65536
  /// The longest side of a cube.
  public static let maxCubeSize = 129

  /// Creates a table.
  ///
  /// - Parameter lease: An object that the table retains.
  /// - Precondition: There are three numbers per entry, at least two entries along every side, and
  ///   every channel of `domainHigh` exceeds the channel of `domainLow`.
  package init(
    title: String, shape: Shape, domainLow: SIMD3<Float>, domainHigh: SIMD3<Float>,
    entries: [Float], lease: (any AssetLease)? = nil
  ) {
    self.lease = lease
    self.title = title
    self.shape = shape
    self.domainLow = domainLow
    self.domainHigh = domainHigh
    self.entries = FloatTable(entries)
    switch shape {
    case .curves(let count):
      self.curves = FloatTable(
        (0 ..< 3).flatMap { channel in
          stride(from: channel, to: entries.count, by: 3).map { entries[$0] }
        })
      self.texels = FloatTable([])
      precondition(count >= 2 && entries.count == 3 * count, "a curve has other entries")
    case .cube(let size):
      self.curves = FloatTable([])
      self.texels = FloatTable(
        stride(from: 0, to: entries.count, by: 3).flatMap { entries[$0 ..< $0 + 3] + [0] })
      precondition(
        size >= 2 && entries.count == 3 * size * size * size, "a cube has other entries")
    }
    precondition(all(domainLow .< domainHigh), "the domain is empty")
  }

  /// Whether the table's memory is counted by a lease.
  var isLeased: Bool { self.lease != nil }
}

extension CubeAsset: Hashable {
  /// Whether both are the same object.
  public static func == (left: CubeAsset, right: CubeAsset) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
