import CKernelCatalogue
import SidelightKernels

/// The filters of the catalogue that are kernels: the files in the folder Catalogue.
///
/// A file is a whole filter: name, summary, category, search words, examples, parameters and code.
/// The code is also the formula of the reference page. `make reference` embeds new files.
package enum KernelCatalogue {
  /// The kernels, in the order of their names. They are parsed once; the tests check the code.
  package static let texts: [KernelText] = (0 ..< Int(kernel_file_count())).map { index in
    let file = unsafe kernel_files()[index]
    let bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    do throws(KernelTextError) {
      return try KernelText(parsing: bytes)
    } catch {
      fatalError("the built-in kernel \(unsafe String(cString: file.name)): \(error)")
    }
  }
}
