/// A member that makes the compiler pass the containing value by address.
///
/// Swift 6.3 crashes (in `SILGenCleanup`) if the top level of a `main.swift` awaits a call that throws a type that fits
/// into registers and holds references, and catches the error only with `catch let error as PushClientError`. A type
/// that is passed by address compiles; `Scripts/check-documentation` compiles such a file.
struct AddressOnly: Hashable, Sendable {
    /// A value whose size the compiler does not know, because its type is an existential. So the compiler passes the
    /// value, and the type that contains it, by address.
    private let content: any Sendable = ()

    static func == (left: AddressOnly, right: AddressOnly) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
