import SidelightKernels
import SidelightVision

/// A colour of an RGB pixel.
typealias Color = [UInt8]

let green: Color = [0, 176, 64]
let orange: Color = [224, 128, 32]

/// Pictures of one colour at the left and another one at the right, and the filters on them.
enum Painting {
  static let geometry = FrameGeometry(
    format: .rgb24, size: FrameSize(width: 320, height: 180))

  /// Returns a frame whose left part has a colour.
  ///
  /// - Parameter columns: The width of that part.
  static func frame(left: Color, _ columns: Int = 160, right: Color) throws -> Frame {
    var frame = try BufferPool().makeFrame(Self.geometry)
    for row in 0 ..< Self.geometry.size.height {
      frame.withMutableRow(row) { bytes in
        for x in 0 ..< Self.geometry.size.width {
          let color = x < columns ? left : right
          for channel in 0 ..< 3 {
            bytes.storeBytes(of: color[channel], toByteOffset: 3 * x + channel, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }

  /// The colour of a pixel in the middle row.
  static func color(of frame: Frame, at x: Int) -> Color {
    frame.withRow(frame.size.height / 2) { bytes in
      (0 ..< 3).map { bytes.unsafeLoad(fromByteOffset: 3 * x + $0, as: UInt8.self) }
    }
  }

  /// Filters a frame as a still image.
  static func filter(
    _ frame: Frame, _ stages: [Stage], in catalogue: FilterCatalogue
  ) async throws -> Frame {
    let plan = try catalogue.resolve(Pipeline(stages: stages)).plan(for: frame.geometry)
    let compute = ComputePool(threadCount: 1)
    defer { compute.shutdown() }
    let scene = try await StreamScene.still(frame, at: FrameTime(), for: plan)
    return try await PlanExecutor(pool: BufferPool(), compute: compute)
      .run(plan, on: frame, scene: scene)
  }
}

/// Whether two colours differ by rounding and soft edges only.
func isNear(_ first: Color, _ second: Color) -> Bool {
  zip(first, second).allSatisfy { abs(Int($0) - Int($1)) <= 3 }
}
