import Foundation

/// A picture, I420 or a JPEG, encoded once as `sidelight.v1.Image`; every frame of a load is this one.
struct Picture: Sendable, CustomStringConvertible {
  let width: Int
  let height: Int
  private var isFile = false
  /// The encoded message.
  let encoded: [UInt8]

  static let hd720 = Picture(width: 1280, height: 720)
  static let hd1080 = Picture(width: 1920, height: 1080)
  static let vga = Picture(width: 640, height: 360)
  /// For loads where processors are the bottleneck and not the transport.
  static let small = Picture(width: 320, height: 180)
  /// A progressive JPEG, which takes much longer to decode than to filter.
  static let jpeg720 = Picture(jpeg: "Examples/media/office.jpg", width: 1280, height: 720)

  /// A gradient with noise, because some filters are faster on flat pictures.
  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    var noise: UInt32 = 1
    let luma = (0 ..< width * height).map { index in
      noise = noise &* 1_664_525 &+ 1_013_904_223
      return UInt8(16 + (index % width) * 180 / width + Int(noise >> 27))
    }
    let chroma = [UInt8](repeating: 118, count: width * height / 2)
    self.encoded = WireWriter.message {
      $0.varint(1, 5)
      $0.varint(2, UInt64(width))
      $0.varint(3, UInt64(height))
      $0.message(15, luma + chroma)
    }
  }

  /// - Parameter path: The path of the file, relative to the repository.
  private init(jpeg path: String, width: Int, height: Int) {
    guard let file = FileManager.default.contents(atPath: path) else {
      preconditionFailure("\(path) cannot be read; run this in the repository")
    }
    self.width = width
    self.height = height
    self.isFile = true
    self.encoded = WireWriter.message {
      $0.varint(1, 16)
      $0.varint(2, UInt64(width))
      $0.varint(3, UInt64(height))
      $0.message(15, [UInt8](file))
    }
  }

  /// The size in common notation.
  var description: String {
    let size =
      self.width * 9 == self.height * 16 ? "\(self.height)p" : "\(self.width)x\(self.height)"
    return self.isFile ? "\(size) JPEG" : size
  }
}
