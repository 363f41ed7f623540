extension PushPlatformDescriptor {
    /// The form in which a hub receives the platform's credential: as an element of its XML document, or by command
    /// line flags.
    public struct CredentialForm: Sendable {
        /// A property of the platform's credential.
        public struct Field: Sendable {
            /// The name of the property, as in the XML documents of the hub.
            public var name: String
            /// The command line flag, such as `key-id`.
            public var flag: String
            public var help: String
            public var isSecret: Bool
            /// True if the value of the command line flag is the path of a file that contains the property.
            public var isFile: Bool
            /// An alternative source for the command line: a member of a file that contains the whole credential.
            public var fileMember: FileMember?
            /// True if the property does not exist in Azure Notification Hubs. Then it is omitted from all XML
            /// documents, because the Java client throws on unknown properties (NotificationHubs.md, section 16, trap
            /// 22).
            public var isExtension: Bool
            /// True if the value is an address that the hub connects to. Whoever changes the address must give the
            /// secrets of the credential again, because they are sent to that address.
            public var isAddress: Bool
            /// The value that is used if none is given. Documents contain this value, because the Java client replaces
            /// a missing address by one of its own, which it then writes back.
            public var impliedValue: String?
            /// The kind of credential that the property belongs to, such as `key` or `certificate`; nil if it belongs
            /// to every kind. A credential is of one kind.
            public var kind: String?

            /// A member of a JSON file that the owner of the platform issues.
            public struct FileMember: Sendable {
                /// The command line flag whose value is the path of the file. Several fields can come from one file.
                public var flag: String
                public var help: String
                public var member: String

                public init(flag: String, help: String, member: String) {
                    self.flag = flag
                    self.help = help
                    self.member = member
                }
            }

            public init(
                name: String, flag: String, help: String, isSecret: Bool = false, isFile: Bool = false,
                isExtension: Bool = false, isAddress: Bool = false, impliedValue: String? = nil,
                fileMember: FileMember? = nil, kind: String? = nil
            ) {
                self.name = name
                self.flag = flag
                self.help = help
                self.isSecret = isSecret
                self.isFile = isFile
                self.isExtension = isExtension
                self.isAddress = isAddress
                self.impliedValue = impliedValue
                self.fileMember = fileMember
                self.kind = kind
            }
        }

        /// The name of the element in a hub description.
        public var element: String
        /// The index of the element in the description, from 0 (NotificationHubs.md, section 13.2); nil if Azure
        /// Notification Hubs does not have the element, which is then omitted from all documents. The index matters
        /// because the .NET client drops elements that are out of order.
        public var index: Int?
        public var fields: [Field]

        public init(element: String, index: Int? = nil, fields: [Field]) {
            self.element = element
            self.index = index
            self.fields = fields
        }
    }
}
