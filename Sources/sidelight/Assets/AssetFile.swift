import SidelightCodecs
import SidelightKernels

/// A file that a pipeline can use in addition to the frame: a PNG or JPEG image, or a `.cube`
/// table.
struct AssetFile {
  /// The path, absolute or relative to the working directory.
  let path: String

  /// Reads and decodes the file. Its content determines the format, not its name.
  ///
  /// - Throws: ``AssetFileError`` if the file cannot be read or has none of these formats.
  func read() throws(AssetFileError) -> Asset {
    let bytes: [UInt8]
    do {
      bytes = try FileContents.read(self.path)
    } catch {
      throw AssetFileError(path: self.path, reason: error.reason)
    }
    return self.isPicture(bytes) ? try self.picture(bytes) : try self.table(bytes)
  }

  private func isPicture(_ bytes: [UInt8]) -> Bool {
    ImageFileFormat(sniffing: bytes.span.bytes) != nil
  }

  private func picture(_ bytes: [UInt8]) throws(AssetFileError) -> Asset {
    do {
      return .image(try ImageAsset(ImageDecoder(pool: BufferPool(maxIdleBytes: 0)).decode(bytes)))
    } catch {
      throw AssetFileError(path: self.path, reason: "\(error)")
    }
  }

  private func table(_ bytes: [UInt8]) throws(AssetFileError) -> Asset {
    do throws(CubeFileError) {
      return .cube(try CubeFile.read(bytes))
    } catch {
      guard self.path.lowercased().hasSuffix(".cube") else {
        throw AssetFileError(path: self.path, reason: "not a PNG, JPEG or .cube file")
      }
      throw AssetFileError(path: self.path, reason: "\(error)")
    }
  }
}
