import SidelightTestSupport
import SidelightWire
import SwiftProtobuf

/// An error in a frame.
enum BadFrame: CaseIterable {
  case noFormat, unknownFormat, fileFormat
  case noWidth, tooWide, tooManyPixels
  case aByteShort, aByteLong, noPixels, sharedMemory
  case shortStride, planePastTheEnd, tooManyPlanes
  case unknownRotation, tooManyTags
  case noJPEG, otherSize

  func spoil(_ frame: inout Sidelight_V1_Frame) {
    switch self {
    case .noFormat: frame.image.format = .unspecified
    case .unknownFormat: frame.image.format = .UNRECOGNIZED(99)
    case .fileFormat: frame.image.format = .png
    case .noWidth: frame.image.width = 0
    case .tooWide: frame.image.width = 16385
    case .tooManyPixels:
      frame.image.width = 16384
      frame.image.height = 16384
    case .aByteShort:
      frame.image.planes = []
      frame.image.inline = frame.image.inline.dropLast()
    case .aByteLong:
      frame.image.planes = []
      frame.image.inline.append(0)
    case .noPixels: frame.image.pixels = nil
    case .sharedMemory: frame.image.sharedMemory = .with { $0.slot = 1 }
    case .shortStride:
      frame.image.planes = [.with { $0.stride = frame.image.width - 1 }]
      frame.image.format = .rgb24
    case .planePastTheEnd:
      frame.image.planes = [
        .with {
          $0.offset = .max
          $0.stride = 1 << 31
        }
      ]
    case .tooManyPlanes: frame.image.planes = Array(repeating: .with { $0.stride = 96 }, count: 4)
    case .unknownRotation: frame.image.orientation.rotation = .UNRECOGNIZED(45)
    case .noJPEG:
      frame.image.format = .jpeg
      frame.image.planes = []
    case .otherSize:
      // A valid file that does not match the message.
      let file = try? Sidelight_V1_Image.jpeg(8, 8)
      frame.image = file ?? .init()
      frame.image.width = 9
    case .tooManyTags:
      frame.tags = Dictionary(uniqueKeysWithValues: (0 ..< 17).map { ("tag \($0)", "") })
    }
  }
}
