import MartletHTTP
import Testing

struct HTTPTargetTests {
    @Test func pathAndQueryAreDecoded() throws {
        let target = try #require(HTTPTarget("/demo/tags/%24InstallationId%3A%7Bx%7D/registrations/?%24top=5&direct"))
        #expect(target.segments == ["demo", "tags", "$InstallationId:{x}", "registrations"])
        #expect(target.item("$TOP")?.value == "5")
        #expect(target.flag("direct"))
        #expect(!target.flag("test"))
    }

    @Test(arguments: [("/?direct=true", true), ("/?direct=FALSE", false), ("/?Direct=", true), ("/?x", false)])
    func aFlagIsBareOrHasAValue(text: String, isSet: Bool) throws {
        #expect(try #require(HTTPTarget(text)).flag("direct") == isSet)
    }

    @Test(arguments: ["dryRun", "dryrun=false", "dry-run", "DRY_RUN=1", "test", "Test=true", "te-st"])
    func whatLooksLikeADryRunOrATestIsRefusedByName(item: String) throws {
        let sentence = try #require(HTTPTarget("/?api-version=1&\(item)")?.refusalOfTrial)
        #expect(sentence.contains("'\(item.split(separator: "=")[0])'"))
        #expect(try #require(HTTPTarget("/?api-version=1&outcome=test&direct&latest&dry&tests")).refusalOfTrial == nil)
    }

    @Test func whatLooksLikeADryRunIsRefusedAlsoWhereATestIsIgnored() throws {
        for item in ["dryRun", "DRY_RUN=0"] {
            let sentence = try #require(HTTPTarget("/?test&\(item)")?.refusalOfDryRun)
            #expect(sentence.contains("'\(item.prefix { $0 != "=" })'; nothing was done"))
        }
        #expect(try #require(HTTPTarget("/?api-version=1&test&dry")).refusalOfDryRun == nil)
    }

    @Test func plusIsASpaceInTheQueryOnlyAndTheRawValueStays() throws {
        let target = try #require(HTTPTarget("/a+b?f=a+eq+%2527x%2527"))
        #expect(target.segments == ["a+b"])
        #expect(target.item("f")?.value == "a eq %27x%27")
        #expect(target.item("f")?.rawValue == "a+eq+%2527x%2527")
    }

    @Test(arguments: ["", "a", "/%", "/%2", "/%zz", "/a/../b", "/%2e%2e/b", "/a%2Fb", "/%00", "/%ff", "/?a=%f"])
    func aTargetThatIsNotMeantWellIsRefused(text: String) {
        #expect(HTTPTarget(text) == nil)
    }
}
