/// A member that makes the compiler pass the containing value by address.
///
/// This works around a crash of the Swift 6.3 compiler (in `SILGenCleanup`). The compiler crashes if the top level of a
/// `main.swift` awaits a throwing call and catches the error only with `catch let error as PushClientError`, and if the
/// error type fits into registers and holds references. With an error type that is passed by address, the file
/// compiles. `Scripts/check-documentation` compiles such a file.
struct AddressOnly: Hashable, Sendable {
    /// A value whose size the compiler does not know, because its type is an existential. So the compiler passes the
    /// value, and the type that contains it, by address.
    private let content: any Sendable = ()

    static func == (left: AddressOnly, right: AddressOnly) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
