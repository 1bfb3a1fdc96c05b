import GRPCCore
package import GRPCProtobuf
import SwiftProtobuf

extension Google_Rpc_Status {
  /// A status inside a message, for faults that do not end the call.
  package init(_ status: GoogleRPCStatus) {
    // Our own details always serialize; should one not, code and message still say the most.
    let bytes: [UInt8]? = try? status.serializedBytes()
    if let bytes, let whole = try? Google_Rpc_Status(serializedBytes: bytes) {
      self = whole
    } else {
      self.init()
      self.code = Int32(status.code.rawValue)
      self.message = status.message
    }
  }
}
