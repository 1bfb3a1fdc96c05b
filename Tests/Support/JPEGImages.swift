package import Foundation
package import SidelightCodecs
import SidelightKernelLanguage
package import SidelightKernels
package import SidelightWire
import SwiftProtobuf

/// A codec for tests, with separate limits.
private let testCodec = JPEGCodec(pool: BufferPool())

extension Sidelight_V1_Image {
  /// Returns a JPEG of gradients, which compress well.
  package static func jpeg(
    _ width: Int, _ height: Int, quality: Int = 90, subsampling: JPEGSubsampling = .quarter,
    seed: Int = 0
  ) throws -> Self {
    var frame = try BufferPool().makeFrame(
      FrameGeometry(format: .rgb24, size: FrameSize(width: width, height: height)))
    for y in 0 ..< height {
      frame.withMutableRow(y) { row in
        for x in 0 ..< width {
          for (channel, value) in [40 + seed + x, 200 - y, 60 + (x + y) / 2].enumerated() {
            row.storeBytes(
              of: UInt8(truncatingIfNeeded: value), toByteOffset: 3 * x + channel, as: UInt8.self)
          }
        }
      }
    }
    return .jpeg(
      try ImageEncoder(.jpeg(quality: quality, subsampling: subsampling)).encode(frame.finish()))
  }

  /// Returns an image that is a file.
  package static func jpeg(_ file: [UInt8]) -> Self {
    .with {
      $0.format = .jpeg
      $0.inline = Data(file)
    }
  }

  /// Returns the samples of a JPEG, by the form that the server decodes it to.
  package func decoded(as format: PixelFormat? = nil) throws -> Frame {
    let file = [UInt8](self.inline)
    let bytes = file.span.bytes
    return try testCodec.decode(bytes, as: format)
  }
}

extension Frame {
  /// Returns the frame after a plan with the built-in filters.
  package func filtered(
    _ pipeline: Pipeline, shape: FrameShape = FrameShape(), as encoding: FrameEncoding? = nil
  ) async throws -> Frame {
    let compute = ComputePool(threadCount: 1)
    defer { compute.shutdown() }
    let plan = try FilterCatalogue.builtIn.resolve(pipeline).shaped(shape)
      .plan(for: self.geometry, as: encoding)
    return try await PlanExecutor(pool: BufferPool(), compute: compute).run(plan, on: self)
  }

  /// Returns the file that the server encodes from it.
  package func jpeg(_ settings: JPEGSettings = JPEGSettings()) throws -> Data {
    try testCodec.withEncoded(self, settings) { file in file.withUnsafeBytes { Data($0) } }
  }
}
