import Foundation
import FuzzDriver
import GRPCNIOTransportHTTP2Posix
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

// Decodes a client message twice: with the reader that does not copy pixels,
// and with the generated code. Both must agree, and a frame must be within its bytes.

typealias Client = Sidelight_V1_ClientMessage

let limits = FrameLimits(maxDimension: 1 << 14, maxPixels: 1 << 20)

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  let expected = try? Client(serializedBytes: bytes)
  let received = try? ReceivedMessageDeserializer<Client>()
    .deserialize(GRPCNIOTransportBytes(bytes))
  var whole = received?.message
  if let pixels = received?.pixels {
    whole?.carriedImage?.inline = Data(pixels.bytes)
    if let frame = try? received?.message.frame.image.frame(over: pixels, limits: limits) {
      precondition(frame.layout.byteCount <= pixels.byteCount, "a frame exceeds its bytes")
      _ = frame.packedBytes()
    }
  }
  precondition(whole == expected, "the two readers differ")
}
