import GRPCCore
import NIOCore
import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ListeningError {
  /// - Parameters:
  ///   - errno: What a system call left.
  ///   - call: Its name.
  init(errno: Int32, call: String, _ address: Address) {
    let code: Code =
      switch errno {
      case EADDRINUSE: .inUse
      case EACCES, EPERM, EROFS: .noPermission
      case ENOENT, ENOTDIR, EADDRNOTAVAIL: .notFound
      case ENAMETOOLONG: .pathTooLong
      default: .other
      }
    let text = String(cString: strerror(errno))
    switch code {
    case .inUse: self.init(code, address, "another server listens there")
    default: self.init(code, address, "\(text) (\(call))")
    }
  }

  /// - Parameter error: What serving ended with.
  /// - Returns: `nil` if that was not a system call's failure.
  init?(_ error: any Error, _ address: Address) {
    let cause = (error as? RuntimeError)?.cause ?? error
    let inner = (cause as? RuntimeError)?.cause ?? cause
    guard let error = inner as? IOError else { return nil }
    self.init(errno: error.errnoCode, call: "bind", address)
  }
}
