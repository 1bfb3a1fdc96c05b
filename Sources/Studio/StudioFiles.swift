import CStudioPage
import Foundation

/// The files of the studio's page by path.
enum StudioFiles {
  /// The files in the binary: `Sources/Studio/Page`, and `clients/web/sidelight` below `sidelight`.
  static let embedded: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for file in UnsafeBufferPointer(start: studio_files(), count: studio_file_count()) {
      files[String(cString: file.path)] = Array(
        UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
    return files
  }()

  /// Reads a file from a folder, for developers of the page. Links in the folder are followed, such
  /// as the page's link to `clients/web/sidelight`.
  ///
  /// - Parameters:
  ///   - path: The path below the folder.
  ///   - folder: The path of the folder.
  /// - Returns: `nil` if the file doesn't exist below the folder.
  static func read(_ path: String, in folder: String) -> [UInt8]? {
    let root = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL
    let file = root.appending(path: path).standardizedFileURL
    guard file.path.hasPrefix(root.path + "/"), let content = try? Data(contentsOf: file) else {
      return nil
    }
    return Array(content)
  }

  /// Returns the media type of a file by the end of its name.
  static func mediaType(of path: String) -> String {
    switch path.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "json": "application/json"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "jpg": "image/jpeg"
    case "webp": "image/webp"
    case "woff2": "font/woff2"
    case "cube", "txt": "text/plain; charset=utf-8"
    default: "application/octet-stream"
    }
  }
}
