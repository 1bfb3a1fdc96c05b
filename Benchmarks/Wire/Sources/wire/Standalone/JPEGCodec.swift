import CLibJPEG
import SidelightClient

/// libjpeg-turbo from and to I420, with states that are reused.
final class JPEGCodec {
  /// An error of libjpeg-turbo.
  struct Failed: Error {
    let message: String
  }

  private let width: Int32
  private let height: Int32
  private let decoder = tjInitDecompress()
  private let encoder = tjInitCompress()

  init(_ size: FrameSize) {
    self.width = Int32(size.width)
    self.height = Int32(size.height)
  }

  deinit {
    tjDestroy(self.decoder)
    tjDestroy(self.encoder)
  }

  /// Decodes a file of the codec's size with 4:2:0 into a frame.
  func decode(_ file: [UInt8], into frame: consuming MutableFrame) throws -> Frame {
    var planes = Self.planes(&frame)
    var strides = frame.layout.planes.map { Int32($0.stride) }
    let result = tjDecompressToYUVPlanes(
      self.decoder, file, UInt(file.count), &planes, self.width, &strides, self.height, 0)
    guard result == 0 else { throw Failed(message: String(cString: tjGetErrorStr2(self.decoder))) }
    return frame.finish()
  }

  /// Encodes a full range I420 frame, 4:2:0.
  func encode(_ frame: Frame, quality: Int) throws -> [UInt8] {
    var planes = (0 ..< 3).map { plane -> UnsafePointer<UInt8>? in
      frame.withRow(0, plane: plane) { row in
        row.withUnsafeBytes { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
      }
    }
    var strides = frame.layout.planes.map { Int32($0.stride) }
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    defer { tjFree(bytes) }
    let result = tjCompressFromYUVPlanes(
      self.encoder, &planes, self.width, &strides, self.height, Int32(TJSAMP_420.rawValue), &bytes,
      &count, Int32(quality), 0)
    guard result == 0 else { throw Failed(message: String(cString: tjGetErrorStr2(self.encoder))) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  /// The addresses of the planes. They remain valid after the closures, because the frame keeps its
  /// buffer.
  private static func planes(_ frame: inout MutableFrame) -> [UnsafeMutablePointer<UInt8>?] {
    var planes: [UnsafeMutablePointer<UInt8>?] = []
    for plane in 0 ..< 3 {
      frame.withMutableRow(0, plane: plane) { row in
        row.withUnsafeMutableBytes {
          planes.append($0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
      }
    }
    return planes
  }
}
