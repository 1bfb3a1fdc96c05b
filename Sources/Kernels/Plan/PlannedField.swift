/// A field, ready to be evaluated for rows of frames of a known size.
package final class PlannedField: Sendable {
  private let grid: FieldGrid?
  /// How rows are evaluated; valid while this object lives.
  package let view: FieldView
  /// What the field holds in memory, in bytes.
  package var byteCost: Int { self.grid?.byteCount ?? 0 }
  /// The greatest magnitude of the field.
  package let maximum: Float

  package init(_ field: ScalarField, size: FrameSize) {
    switch field.kind {
    case .smooth(let value):
      let grid = FieldGrid(value, size: size)
      self.grid = grid
      self.view = .grid(grid.view)
      self.maximum = grid.maximum
    case .grain(let grain):
      self.grid = nil
      self.view = .grain(grain)
      self.maximum = max(1, abs(1 - Float(grain.amount)))
    }
  }
}
