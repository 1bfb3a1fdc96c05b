import SidelightCodecs
import SidelightKernels

/// A file that a pipeline may use beside the frame: a PNG or JPEG picture, or a `.cube` table.
struct AssetFile {
  /// Relative to the working directory, or absolute.
  let path: String

  /// Reads and decodes the file; what it is, its content says, not its name.
  ///
  /// - Throws: ``AssetFileError`` for a file that cannot be read or is none of the three.
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
        throw AssetFileError(path: self.path, reason: "it is no PNG, no JPEG and no .cube table")
      }
      throw AssetFileError(path: self.path, reason: "\(error)")
    }
  }
}
