import SidelightKernels

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The picture of the benchmark in every format, written by the driver.
struct Pictures {
  /// The folder of `bgra8.raw` and the other formats: rows without padding.
  let folder: String

  /// Returns frames of a geometry in separate buffers.
  ///
  /// - Parameter variant: The name of another picture than the usual one, such as `dark`.
  func frames(
    _ geometry: FrameGeometry, variant: String? = nil, count: Int, pool: BufferPool
  ) throws -> [Frame] {
    let format = geometry.format == .bgra8 ? "bgra" : geometry.format.rawValue
    let name = variant.map { "\($0)-\(format)" } ?? format
    guard let file = fopen("\(self.folder)/\(name).raw", "rb") else {
      throw BenchError(message: "there is no picture in \(name)")
    }
    defer { fclose(file) }
    return try (0 ..< count).map { _ in
      rewind(file)
      var frame = try pool.makeFrame(geometry)
      for plane in 0 ..< geometry.format.planeCount {
        for y in 0 ..< geometry.format.rowCount(plane: plane, height: geometry.size.height) {
          frame.withMutableRow(y, plane: plane) { row in
            row.withUnsafeMutableBytes { _ = fread($0.baseAddress, 1, $0.count, file) }
          }
        }
      }
      return frame.finish()
    }
  }

  /// Returns the table of `cube.cube`.
  func cube() throws -> CubeAsset {
    guard let file = fopen("\(self.folder)/cube.cube", "rb") else {
      throw BenchError(message: "there is no cube.cube")
    }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return try CubeFile.read(Array(bytes.prefix(count)))
  }

  /// Writes a frame's rows without padding.
  static func write(_ frame: Frame, to path: String) {
    guard let file = fopen(path, "wb") else { return }
    defer { fclose(file) }
    for plane in 0 ..< frame.format.planeCount {
      for y in 0 ..< frame.format.rowCount(plane: plane, height: frame.size.height) {
        frame.withRow(y, plane: plane) { row in
          row.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, file) }
        }
      }
    }
  }
}

/// The reason why the benchmark cannot run.
struct BenchError: Error {
  let message: String
}
