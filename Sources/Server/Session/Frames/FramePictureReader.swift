import SidelightKernels
import SidelightWire

/// Finds the pixels of a session's frames, inline or in shared memory, and checks the pictures.
struct FramePictureReader: Sendable {
  private let processing: FrameProcessing
  private let limits: FrameLimits
  private let ring: SessionRing?
  private var video: EncodedPictureReader

  /// - Parameter ring: The session's shared memory, or `nil` if pixels travel inline.
  init(processing: FrameProcessing, limits: FrameLimits, ring: SessionRing?) {
    self.processing = processing
    self.limits = limits
    self.ring = ring
    self.video = EncodedPictureReader(limits: limits)
  }

  /// Why a picture for which ``picture(of:_:)`` returns `nil` cannot be decoded.
  var missing: KeyFrameReason { self.video.missing }

  /// Returns the bytes of a frame's pixels.
  ///
  /// - Parameter pixels: The inline pixels, if any.
  func byteCount(of image: Sidelight_V1_Image, _ pixels: PixelBuffer?) -> Int {
    pixels?.byteCount ?? self.ring?.byteCount(of: image) ?? 0
  }

  /// Takes the input slot that an image names. It belongs to the frame until the outcome is sent.
  ///
  /// - Returns: The slot's pixels, or `nil` if the image doesn't name a slot or the session has no
  ///   ring.
  /// - Throws: ``FieldViolation`` if the client may not use that slot, or that many of its bytes.
  func takeSlot(
    of image: Sidelight_V1_Image, for arrival: UInt64
  ) throws(FieldViolation) -> PixelBuffer? {
    guard case .sharedMemory(let reference)? = image.pixels, let ring = self.ring else {
      return nil
    }
    let pixels: PixelBuffer
    do throws(FieldViolation) {
      pixels = try ring.take(reference, for: arrival)
    } catch {
      throw error.within("frame.image")
    }
    guard image.format.isCompressed else { return pixels }
    guard pixels.byteCount <= self.limits.maxBytes else {
      throw FieldViolation(
        field: "frame.image.shared_memory.length",
        reason: "is \(pixels.byteCount), the limit of a file is \(self.limits.maxBytes)")
    }
    return pixels
  }

  /// Returns a slot's pixels. Copies compressed pictures, on a compute thread: the client can write
  /// to the slot at any time, and a parser must see the same bytes whenever it reads them.
  func contents(of slot: PixelBuffer?, _ image: Sidelight_V1_Image) async -> PixelBuffer? {
    guard let slot, image.format.isCompressed else { return slot }
    let pool = self.processing.pool
    return await withTaskExecutorPreference(self.processing.compute) {
      await Self.copy(slot, pool)
    }
  }

  @concurrent
  private static func copy(_ slot: PixelBuffer, _ pool: BufferPool) async -> PixelBuffer {
    slot.copy(in: pool)
  }

  /// Checks a frame's picture.
  ///
  /// - Returns: `nil` for a picture of a stream that depends on one that has not arrived.
  /// - Throws: ``FieldViolation`` that names the field.
  mutating func picture(
    of frame: Sidelight_V1_Frame, _ pixels: PixelBuffer?
  ) throws(FieldViolation) -> IncomingPicture? {
    do throws(FieldViolation) {
      if let codec = PictureCoding(frame.image.format)?.codec {
        return try self.video.picture(frame.image, codec, over: pixels).map { .video($0) }
      }
      return try IncomingPicture(
        frame.image, over: pixels, limits: self.limits, jpeg: self.processing.codec.jpeg)
    } catch {
      throw error.within("frame.image")
    }
  }
}
