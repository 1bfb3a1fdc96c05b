import Foundation
package import SwiftProtobuf

extension ContractDescriptors {
  /// Every file of the contract and of what it imports. Read once, when it is first asked for.
  package static let files: Google_Protobuf_FileDescriptorSet = {
    let bytes = Data(base64Encoded: Self.base64) ?? Data()
    // Generated beside the code that reads them: a test says that they are whole.
    return (try? Google_Protobuf_FileDescriptorSet(serializedBytes: bytes)) ?? .init()
  }()
}
