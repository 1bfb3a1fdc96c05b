import SidelightKernels
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The file of a font, and the faces that are opened on it.
@safe
final class FontFile: FontHandle, @unchecked Sendable {  // the bytes do not change
  /// The maximum number of unused faces to keep.
  private static let maxIdleFaces = 4
  /// The largest file that is mapped.
  private static let maxFileBytes = 256 << 20

  /// Family, style and metrics.
  let properties: FontProperties
  private let bytes: UnsafeRawBufferPointer
  private let isMapped: Bool
  private let index: Int
  private let idle = Mutex<[Face]>([])

  /// Parses a font in memory.
  ///
  /// - Throws: ``TextError`` with the reason why the font cannot be used.
  init(_ contents: [UInt8]) throws(TextError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: contents.count, alignment: 16)
    unsafe copy.copyBytes(from: contents)
    unsafe self.bytes = UnsafeRawBufferPointer(copy)
    self.isMapped = false
    self.index = 0
    let face: Face
    do {
      face = try unsafe Face(UnsafeRawBufferPointer(copy), index: 0)
    } catch {
      unsafe copy.deallocate()
      throw error
    }
    self.properties = face.properties
    self.idle.withLock { $0.append(face) }
  }

  /// Maps a file; `nil` if it cannot be read or is not a font.
  ///
  /// - Parameter index: The number of the font in a collection.
  init?(path: String, index: Int = 0) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_size > 0,
      status.st_size <= Self.maxFileBytes,
      let start = unsafe mmap(
        nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0),
      unsafe start != MAP_FAILED
    else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(status.st_size))
    guard let face = try? unsafe Face(bytes, index: index) else {
      unsafe munmap(start, bytes.count)
      return nil
    }
    unsafe self.bytes = bytes
    self.isMapped = true
    self.index = index
    self.properties = face.properties
    self.idle.withLock { $0.append(face) }
  }

  deinit {
    self.idle.withLock { $0 = [] }
    if self.isMapped {
      unsafe munmap(UnsafeMutableRawPointer(mutating: self.bytes.baseAddress), self.bytes.count)
    } else {
      unsafe self.bytes.deallocate()
    }
  }

  /// Takes a face, which ``put(back:)`` returns.
  func takeFace() throws(TextError) -> Face {
    if let face = self.idle.withLock({ $0.popLast() }) { return face }
    return try unsafe Face(self.bytes, index: self.index)
  }

  /// Returns a face for other texts.
  func put(back face: Face) {
    self.idle.withLock { idle in
      if idle.count < Self.maxIdleFaces { idle.append(face) }
    }
  }
}

/// The faces of one text while it is drawn.
struct FaceSet: ~Copyable {
  private var faces: [(file: FontFile, face: Face)] = []

  init() {}

  deinit {
    for (file, face) in self.faces { file.put(back: face) }
  }

  mutating func face(of file: FontFile) throws(TextError) -> Face {
    if let known = self.faces.first(where: { $0.file === file }) { return known.face }
    let face = try file.takeFace()
    self.faces.append((file, face))
    return face
  }
}
