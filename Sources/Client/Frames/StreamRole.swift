import SidelightWire

/// The place of a picture among those that depend on each other.
package enum StreamRole: Sendable, Hashable {
  /// Complete in itself: samples or a JPEG file.
  case independent
  /// A picture of a stream with which decoding can start.
  case keyFrame
  /// Depends on earlier pictures, and later ones depend on it.
  case reference
  /// Depends on earlier pictures, and later ones do not depend on it.
  case disposable
}

extension VideoPicture {
  /// The picture's role. Only H.264 states in a form that is read here that a picture is disposable;
  /// pictures of other codecs count as references.
  package var role: StreamRole {
    guard case .encoded(let frame) = self else { return .independent }
    if frame.isKeyFrame { return .keyFrame }
    return switch frame.format {
    case .h264: Self.roleInH264(frame.bytes)
    case .vp8: frame.bytes.first.map { $0 & 1 == 0 } == true ? .keyFrame : .reference
    // The marker of a frame, which does not show an earlier one, and is a key frame.
    case .vp9: frame.bytes.first.map { $0 & 0xCC == 0x80 } == true ? .keyFrame : .reference
    case .av1: Self.isKeyFrameOfAV1(frame.bytes) ? .keyFrame : .reference
    }
  }

  /// Reads the headers of the NAL units (ITU-T H.264, section 7.3.1).
  private static func roleInH264(_ bytes: [UInt8]) -> StreamRole {
    var (zeros, role): (Int, StreamRole?) = (0, nil)
    for (index, byte) in bytes.enumerated() {
      if byte == 1, zeros >= 2, index + 1 < bytes.count {
        let header = bytes[index + 1]
        switch header & 31 {
        case 5: return .keyFrame
        case 1: role = header >> 5 & 3 > 0 || role == .reference ? .reference : .disposable
        default: break
        }
      }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return role ?? .reference
  }

  /// Reads the first frame header of the open bitstream units (AV1, sections 5.3 and 5.9.2).
  private static func isKeyFrameOfAV1(_ bytes: [UInt8]) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let header = bytes[offset]
      var start = offset + (header & 4 == 0 ? 1 : 2)
      var size = bytes.count - start
      if header & 2 != 0 {
        size = 0
        for shift in stride(from: 0, to: 35, by: 7) where start < bytes.count {
          size |= Int(bytes[start] & 0x7F) << shift
          start += 1
          if bytes[start - 1] & 0x80 == 0 { break }
        }
      }
      guard start < bytes.count else { return false }
      if [3, 6].contains(header >> 3 & 15) {
        // Does not show an earlier frame, is a key frame, and is shown.
        return bytes[start] & 0xF0 == 0x10
      }
      offset = start + size
    }
    return false
  }
}
