import BenchmarkSupport
import SidelightKernels

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file of frames, plane after plane, with rows without padding.
final class RawVideo {
  private let file: UnsafeMutablePointer<FILE>
  private let geometry: FrameGeometry

  /// Opens a file of frames.
  init(reading path: String, _ geometry: FrameGeometry) throws {
    self.file = try Self.open(path, "rb")
    self.geometry = geometry
  }

  /// Creates a file for frames.
  init(writing path: String, _ geometry: FrameGeometry) throws {
    self.file = try Self.open(path, "wb")
    self.geometry = geometry
  }

  deinit { fclose(self.file) }

  private static func open(_ path: String, _ mode: String) throws -> UnsafeMutablePointer<FILE> {
    guard let file = fopen(path, mode) else {
      throw UsageError(description: "\(path) cannot be opened")
    }
    return file
  }

  /// Reads the next frame.
  func next(_ pool: BufferPool) throws -> Frame {
    var frame = try pool.makeFrame(self.geometry)
    var isShort = false
    for plane in 0 ..< self.geometry.format.planeCount {
      for y in 0 ..< self.rowCount(plane) {
        frame.withMutableRow(y, plane: plane) { row in
          row.withUnsafeMutableBytes {
            if fread($0.baseAddress, 1, $0.count, self.file) != $0.count { isShort = true }
          }
        }
      }
    }
    if isShort { throw UsageError(description: "the file has too few frames") }
    return frame.finish()
  }

  /// Appends a frame.
  func append(_ frame: Frame) {
    for plane in 0 ..< self.geometry.format.planeCount {
      for y in 0 ..< self.rowCount(plane) {
        frame.withRow(y, plane: plane) { row in
          row.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, self.file) }
        }
      }
    }
  }

  private func rowCount(_ plane: Int) -> Int {
    self.geometry.format.rowCount(plane: plane, height: self.geometry.size.height)
  }
}
