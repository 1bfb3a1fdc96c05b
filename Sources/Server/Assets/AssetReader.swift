import Crypto
import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels
import SidelightWire

/// Decodes files to assets. It reserves the memory that the file's header states before it decodes.
struct AssetReader: Sendable {
  let library: AssetLibrary
  /// The parser of fonts. `nil` disables fonts.
  let fonts: (any FontReader)?
  let clock: SessionClock

  /// Verifies and decodes a file. Blocks while it computes; runs on the task's preferred executor.
  ///
  /// - Throws: ``AssetError`` for a file that differs from its header, is not a valid asset, or
  ///   exceeds a limit on memory.
  @concurrent
  func read(
    _ file: AssetUpload.Contents, of owner: CallerIdentity
  ) async throws(AssetError) -> StoredAsset {
    let digest = Array(SHA256.hash(data: file.bytes))
    guard file.digest.isEmpty || file.digest == digest else {
      throw AssetError(
        reason: .digest, field: "header.sha256",
        description: "differs from the digest of the received file",
        value: Self.hexadecimal(digest), limit: Self.hexadecimal(file.digest))
    }
    let (asset, memoryByteCount) = try self.readContents(file.bytes, of: owner)
    return StoredAsset(
      name: file.name, asset: asset, fileByteCount: file.bytes.count,
      memoryByteCount: memoryByteCount, digest: digest, stored: self.clock.now())
  }

  private func readContents(
    _ bytes: [UInt8], of owner: CallerIdentity
  ) throws(AssetError) -> (Asset, byteCount: Int) {
    if ImageFileFormat(sniffing: bytes.span.bytes) != nil {
      return try self.readPicture(bytes, of: owner)
    }
    if FontAsset.isFont(bytes) { return try self.readFont(bytes, of: owner) }
    return KernelText.isKernel(bytes)
      ? try self.readKernel(bytes, of: owner) : try self.readTable(bytes, of: owner)
  }

  private func readFont(
    _ bytes: [UInt8], of owner: CallerIdentity
  ) throws(AssetError) -> (Asset, byteCount: Int) {
    guard let fonts = self.fonts else {
      throw AssetError(
        reason: .unreadable, field: "chunk",
        description: "the file is a font, and this server is built without SidelightText")
    }
    let lease = try self.library.reserveMemory(
      FontAsset.maxByteCount(ofFile: bytes.count), of: owner)
    do {
      return (.font(try fonts.readFont(bytes, lease: lease)), lease.byteCount)
    } catch {
      throw AssetError(
        reason: .unreadable, field: "chunk", description: "the font is invalid: \(error.message)")
    }
  }

  private func readPicture(
    _ bytes: [UInt8], of owner: CallerIdentity
  ) throws(AssetError) -> (Asset, byteCount: Int) {
    let limits = ImageLimits(maxPixels: self.library.configuration.maxPixels)
    do {
      let size = try ImageDecoder.size(of: bytes.span.bytes, limits: limits)
      let lease = try self.library.reserveMemory(ImageAsset.maxByteCount(of: size), of: owner)
      let pool = BufferPool(maxIdleBytes: 0, usesPages: true)
      let frame = try ImageDecoder(pool: pool, limits: limits).decode(bytes)
      return (.image(try ImageAsset(frame, lease: lease)), lease.byteCount)
    } catch let error as AssetError {
      throw error
    } catch let error as CodecError {
      let isTooLarge = error.code == .limitExceeded
      throw AssetError(
        reason: isTooLarge ? .tooLarge : .unreadable, field: "chunk", description: error.message,
        limit: isTooLarge ? "\(limits.maxPixels)" : nil)
    } catch {
      throw AssetError(reason: .unreadable, field: "chunk", description: "\(error)")
    }
  }

  private func readTable(
    _ bytes: [UInt8], of owner: CallerIdentity
  ) throws(AssetError) -> (Asset, byteCount: Int) {
    do {
      let shape = try CubeFile.shape(of: bytes)
      let lease = try self.library.reserveMemory(shape.byteCount, of: owner)
      return (.cube(try CubeFile.read(bytes, lease: lease)), lease.byteCount)
    } catch let error as AssetError {
      throw error
    } catch {
      throw AssetError(
        reason: .unreadable, field: "chunk",
        description: bytes.prefix(512).contains(0)
          ? "the file is neither PNG nor JPEG nor a font, and neither a .cube table nor a kernel"
          : "the file is neither PNG nor JPEG nor a font, does not begin with the word kernel, and is "
            + "invalid as a .cube table: \(error)")
    }
  }

  private func readKernel(
    _ bytes: [UInt8], of owner: CallerIdentity
  ) throws(AssetError) -> (Asset, byteCount: Int) {
    do {
      guard bytes.count <= KernelText.maxByteCount else {
        throw AssetError(
          reason: .tooLarge, field: "header.size_bytes",
          description: "is \(bytes.count), the limit for a kernel is \(KernelText.maxByteCount)",
          value: "\(bytes.count)", limit: "\(KernelText.maxByteCount)")
      }
      let lease = try self.library.reserveMemory(
        bytes.count * KernelAsset.memoryPerByte, of: owner)
      return (.kernel(try KernelAsset(bytes, lease: lease)), lease.byteCount)
    } catch let error as AssetError {
      throw error
    } catch let error as KernelTextError {
      let hint = error.suggestion.map { "; did you mean \($0)?" } ?? ""
      throw AssetError(
        reason: .kernel, field: "chunk",
        description: "line \(error.position.line), column \(error.position.column) of the kernel: "
          + error.message + hint,
        value: error.value, limit: error.limit, suggestion: error.suggestion,
        position: error.position)
    } catch {
      throw AssetError(reason: .kernel, field: "chunk", description: "\(error)")
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(hexadecimal: $0) }.joined()
  }
}

extension String {
  /// Creates the hexadecimal digits of a number, with leading zeros.
  init<Number: FixedWidthInteger & UnsignedInteger>(hexadecimal number: Number) {
    let digits = String(number, radix: 16)
    self = String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
  }
}
