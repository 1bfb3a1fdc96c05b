import SidelightClient
import SidelightKernels
import SidelightWire

/// A picture of noise, for the client library.
func picture(_ width: Int = 64, _ height: Int = 48, seed: UInt64 = 1) throws -> Frame {
  try Sidelight_V1_Image.noise(.bgra8, width, height, seed: seed)
    .makeFrame()
}

extension VideoPicture {
  /// The samples, or the file, to be compared.
  var bytes: [UInt8] { self.frame?.bytes ?? self.jpeg ?? [] }
}

extension Frame {
  /// The samples, to be compared.
  var bytes: [UInt8] { [UInt8](self.packedBytes()) }
}
