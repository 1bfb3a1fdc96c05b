import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels
import SidelightReference
import SidelightText
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A setting that guides to these filters use, and its picture: the reference's result for
/// the drawn scene, as a PNG file next to this one.
struct Golden: Sendable, CustomTestStringConvertible {
  /// The file's name, without `.png`.
  let name: String
  let pipeline: Pipeline
  var size = FrameSize(width: 160, height: 120)
  /// The permitted difference of plans from the picture, in levels.
  var tolerance = 1
  /// The light on the scene: factors of red, green and blue.
  var light = SIMD3<Double>.one

  /// The built-in filters, and the filters that draw texts using the fonts of Debian's packages.
  static let catalogue: FilterCatalogue = {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText()
    return catalogue
  }()

  var testDescription: String { self.name }

  /// Returns the reference's result for the scene.
  func reference() throws -> Frame {
    let scene = try DrawnScene.frame(.rgb24, self.size, light: self.light)
    let samples = ReferenceInterpreter()
      .apply(try Golden.catalogue.resolve(self.pipeline), to: ReferencePicture(scene))
      .encoded()[0]
    return try DrawnScene.frame(.rgb24, self.size) { x, y, channel in
      samples[(y * self.size.width + x) * 3 + channel]
    }
  }

  /// The picture.
  func committed() throws -> Frame {
    try ImageDecoder(pool: BufferPool()).decode(try Self.read(self.path))
  }

  /// Creates the picture.
  func commit() throws {
    try Self.write(try ImageEncoder(format: .png).encode(try self.reference()), to: self.path)
  }

  private var path: String {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return folder.joined(separator: "/") + "/Pictures/\(self.name).png"
  }

  struct FileError: Error {
    let path: String
  }

  static func read(_ path: String) throws -> [UInt8] {
    guard let file = unsafe fopen(path, "rb") else { throw FileError(path: path) }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = unsafe fopen(path, "wb") else { throw FileError(path: path) }
    let count = unsafe fwrite(bytes, 1, bytes.count, file)
    guard unsafe fclose(file) == 0, count == bytes.count else { throw FileError(path: path) }
  }
}
