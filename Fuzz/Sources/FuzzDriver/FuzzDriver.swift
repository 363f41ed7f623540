import CLibFuzzer

/// A function that libFuzzer calls with inputs; it stops the process where one shows a fault.
public typealias FuzzTest = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// Runs libFuzzer with the options of the command line.
public func fuzz(_ test: FuzzTest) {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    _ = LLVMFuzzerRunDriver(&count, &arguments, test)
}

extension String {
    /// An input as text; what is not UTF-8 becomes U+FFFD.
    public init(input: UnsafePointer<UInt8>?, _ count: Int) {
        self.init(decoding: UnsafeBufferPointer(start: input, count: count), as: UTF8.self)
    }
}
