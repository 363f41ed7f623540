import MartletModel
import Testing

@testable import MartletPush

struct BaiduTests {
    @Test func aHandleInOneTextHasADashBetweenItsParts() throws {
        #expect(Baidu.handle(from: "u-c-1") == PushHandle("u", "c-1"))
        #expect(try Baidu.key(of: PushHandle("u", "c-1")) == "u\nc-1")
        #expect(Baidu.handle(from: "u") == PushHandle("u"))
    }
}
