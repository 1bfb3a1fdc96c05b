#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Reads whole files.
enum FileContents {
  /// Returns the bytes of a file.
  ///
  /// - Throws: ``POSIXCallError`` that names the path.
  static func read(_ path: String) throws(POSIXCallError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw POSIXCallError(call: "open \(path)", code: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while true {
      var code: Int32 = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
        #if canImport(Glibc)
          let length = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
          let length = Musl.read(descriptor, buffer.baseAddress, buffer.count)
        #else
          let length = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
        code = length < 0 ? errno : 0
        count = max(0, length)
      }
      if code == EINTR { continue }
      guard code == 0 else { throw POSIXCallError(call: "read \(path)", code: code) }
      guard !chunk.isEmpty else { return bytes }
      bytes += chunk
    }
  }
}
