import CKernels

/// A picture with an empty margin: transparent and black.
package struct MarginOperation: NeighborhoodOperation {
  /// Pixels on the left; even, to keep chroma aligned.
  package let left: Int
  /// Pixels at the top; even.
  package let top: Int
  /// Pixels on the right.
  package let right: Int
  /// Pixels at the bottom.
  package let bottom: Int

  package init(left: Int, top: Int, right: Int, bottom: Int) {
    self.left = left
    self.top = top
    self.right = right
    self.bottom = bottom
  }

  /// Creates a margin with the same width left and right, and the same height at top and bottom.
  package init(left: Int, top: Int) {
    self.init(left: left, top: top, right: left, bottom: top)
  }

  package var summary: String {
    self.left == self.right && self.top == self.bottom
      ? "a margin of \(self.left) and \(self.top) pixels"
      : "a margin of \(self.left) to \(self.right) and \(self.top) to \(self.bottom) pixels"
  }

  package func output(for geometry: FrameGeometry) -> FrameGeometry {
    var result = geometry
    result.size = FrameSize(
      width: geometry.size.width + self.left + self.right,
      height: geometry.size.height + self.top + self.bottom)
    return result
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    MarginPass(
      description: setting.description, operation: self,
      empty: TransparentBlack.samples(setting.geometry))
  }
}

/// A copy of every plane into the middle of a larger, empty one.
struct MarginPass: Pass {
  let description: PassDescription
  let operation: MarginOperation
  /// The code values of the empty area, by plane and channel.
  let empty: [[Int16]]

  func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let inner = PlaneShape.planes(source.format, source.size)
    let outer = PlaneShape.planes(destination.format, destination.size)
    for (inside, shape) in zip(inner, outer) {
      let left = Int(Double(self.operation.left) * shape.scale)
      let top = Int(Double(self.operation.top) * shape.scale)
      let empty = self.empty[shape.plane]
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.1
      ) { band in
        let rows = unsafe sl_rows_current().pointee
        let memory = SampleMemory(count: shape.samples)
        let line = unsafe memory[0]
        for index in 0 ..< shape.samples {
          unsafe line[index] = empty[index % shape.step] * 32
        }
        let isDeep = destination.depth == .deep
        for y in band {
          let output = unsafe destination.row(y, plane: shape.plane)
          if isDeep {
            unsafe output.copyMemory(from: line, byteCount: shape.samples * 2)
          } else {
            unsafe rows.narrow_u8(line, 5, shape.samples, output)
          }
          guard (top ..< top + inside.height).contains(y) else { continue }
          let input = unsafe source.row(y - top, plane: shape.plane)
          let start = unsafe output + left * shape.step * destination.depth.byteCount
          unsafe SampleCopy.copy(
            input, source.depth, start, destination.depth, count: inside.samples, rows)
        }
      }
    }
  }
}

/// The samples of an empty area: transparent and black.
package enum TransparentBlack {
  /// The code values of every plane, channel by channel.
  package static func samples(_ geometry: FrameGeometry) -> [[Int16]] {
    switch geometry.format {
    case .bgra8, .rgba8: [[0, 0, 0, 0]]
    case .rgb24: [[0, 0, 0]]
    case .gray8: [[0]]
    case .i420: [[Self.black(geometry)], [128], [128]]
    case .nv12: [[Self.black(geometry)], [128, 128]]
    }
  }

  private static func black(_ geometry: FrameGeometry) -> Int16 {
    geometry.color.range == .video ? 16 : 0
  }
}
