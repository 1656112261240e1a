#import <AVFoundation/AVFoundation.h>
#import <React/RCTBridgeModule.h>
#import <React/RCTEventEmitter.h>
@import LatchkeyBridge;

/// Keys configured by a script. The app's own player view calls `protectAsset:title:` of `keys`.
@interface LatchkeyModule : RCTEventEmitter <RCTBridgeModule>
@property (class, nonatomic, readonly, nullable) LatchkeyKeys *keys;
@end

@implementation LatchkeyModule {
    NSMutableDictionary<NSNumber *, void (^)(NSDictionary<NSString *, NSString *> *, NSError *)> *_answers;
    NSInteger _last;
}

static LatchkeyKeys *shared;

+ (LatchkeyKeys *)keys { return shared; }

RCT_EXPORT_MODULE(Latchkey)

- (NSArray<NSString *> *)supportedEvents { return @[ @"credentials", @"outcome" ]; }

// All methods and blocks are on one queue, so that `_answers` needs no lock.
- (dispatch_queue_t)methodQueue { return dispatch_get_main_queue(); }

RCT_EXPORT_METHOD(configure:(NSString *)profile settings:(NSDictionary *)settings
                  resolve:(RCTPromiseResolveBlock)resolve reject:(RCTPromiseRejectBlock)reject) {
    NSError *error = nil;
    __weak LatchkeyModule *module = self;
    [shared close];
    _answers = [NSMutableDictionary dictionary];
    shared = [[LatchkeyKeys alloc] initWithProfile:profile settings:settings allowedHosts:@[] queue:nil
        credentials:^(LatchkeyCredentialRequest *request, void (^answer)(NSDictionary<NSString *, NSString *> *, NSError *)) {
            [module ask:request answer:answer];
        }
        outcomes:^(LatchkeyOutcome *outcome) { [module sendEventWithName:@"outcome" body:outcome.json]; }
        error:&error];
    if (shared) resolve(nil);
    else reject(error.userInfo[@"LatchkeyCode"], error.localizedDescription, error);
}

- (void)ask:(LatchkeyCredentialRequest *)request answer:(void (^)(NSDictionary<NSString *, NSString *> *, NSError *))answer {
    NSNumber *number = @(++_last);
    _answers[number] = answer;
    [self sendEventWithName:@"credentials" body:@{ @"number" : number, @"request" : request.json }];
}

RCT_EXPORT_METHOD(answer:(nonnull NSNumber *)number credentials:(nullable NSDictionary *)credentials) {
    void (^answer)(NSDictionary<NSString *, NSString *> *, NSError *) = _answers[number];
    [_answers removeObjectForKey:number];
    if (answer) answer(credentials, nil);  // nil: the key fails with `credentialsFailed`
}

@end
