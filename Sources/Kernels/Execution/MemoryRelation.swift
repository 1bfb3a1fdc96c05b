/// How the memory of one raster lies to that of another.
enum MemoryRelation: Sendable, Hashable {
  /// They share no byte.
  case apart
  /// Each sample of one is the same sample of the other.
  case same
  /// Neither: to write one may change others' samples in the other.
  case entangled
}

extension Raster {
  /// How this raster's memory lies to another's. Rasters whose planes interlace without sharing a
  /// byte count as entangled.
  func relation(to other: Raster) -> MemoryRelation {
    let (mine, theirs) = (self.extents, other.extents)
    guard mine.contains(where: { extent in theirs.contains { $0.overlaps(extent) } }) else {
      return .apart
    }
    let isSame =
      self.format == other.format && self.size == other.size && self.depth == other.depth
      && mine.map(\.lowerBound) == theirs.map(\.lowerBound)
      && mine.indices.allSatisfy {
        self.view.stride(plane: $0) == other.view.stride(plane: $0)
          || self.format.rowCount(plane: $0, height: self.size.height) == 1
      }
    return isSame ? .same : .entangled
  }

  /// The addresses from each plane's first sample to its last.
  private var extents: [Range<UInt>] {
    PlaneShape.planes(self.format, self.size).map { shape in
      let first = unsafe UInt(bitPattern: self.row(0, plane: shape.plane))
      let last = unsafe UInt(bitPattern: self.row(shape.height - 1, plane: shape.plane))
      return first ..< last + UInt(shape.samples * self.depth.byteCount)
    }
  }
}
