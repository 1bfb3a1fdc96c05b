import Foundation
package import SidelightKernels
import SidelightTransport
package import SidelightWire
import SwiftProtobuf

/// Returns a BGRA picture of noise.
package func picture(_ width: Int = 64, _ height: Int = 48, seed: UInt64 = 1) throws -> Frame {
  try Sidelight_V1_Image.noise(.bgra8, width, height, seed: seed).makeFrame()
}

extension Frame {
  /// The samples without padding, to be compared.
  package var bytes: [UInt8] { [UInt8](self.packedBytes()) }
}

extension Sidelight_V1_Image {
  /// Returns noise that depends on `seed` alone, with `padding` bytes after every row.
  package static func noise(
    _ format: PixelFormat, _ width: Int, _ height: Int, padding: Int = 0, seed: UInt64 = 1
  ) -> Self {
    var planes: [Sidelight_V1_Plane] = []
    var offset = 0
    for plane in 0 ..< format.planeCount {
      let stride = format.rowByteCount(plane: plane, width: width) + padding
      planes.append(
        .with {
          $0.offset = UInt32(offset)
          $0.stride = UInt32(stride)
        })
      offset += stride * format.rowCount(plane: plane, height: height)
    }
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var bytes = Data(count: offset)
    bytes.withUnsafeMutableBytes { bytes in
      for index in bytes.indices {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        bytes[index] = UInt8(truncatingIfNeeded: state >> 32)
      }
    }
    return .with {
      $0.format = Sidelight_V1_PixelFormat(format)
      $0.width = UInt32(width)
      $0.height = UInt32(height)
      if padding > 0 { $0.planes = planes }
      $0.inline = bytes
    }
  }

  /// Returns the frame that a raw image describes, on a copy of its inline pixels.
  package func makeFrame(limits: FrameLimits = .unlimited) throws -> Frame {
    let pixels = [UInt8](self.inline)
    return try self.frame(over: PixelBuffer(copying: pixels), limits: limits)
  }
}
