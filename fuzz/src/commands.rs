//! The command lines of each target.

/// Those that read replies.
pub const REPLIES: &[&str] = &[
    "--api marketplace customer show",
    "--api marketplace customer update --address 2 --postcode 10119",
    "--api marketplace customer update --add-address --address-firstname A --address-lastname B --street s --city Berlin \
     --postcode 10115 --country DE --region-id 82 --telephone +49301234567",
    "--api marketplace customer update --address 1 --default-shipping --gender 1",
    "--api marketplace customer update --remove-address 1 --yes",
    "--api marketplace quote add-item --quote-id 1 --sku umbrella --qty 1",
    "--api marketplace quote ship --quote-id 1 --ship-to-address 2 --bill-same-as-ship --carrier flatrate --method flatrate --payment-method checkmo",
    "--api marketplace attribute create --code fabric --label Fabric --type select --option Linen Cotton",
    "--api magento customer show --customer 2",
    "--api magento customer find a",
    "--api magento customer export --customer 2",
    "--api magento customer check --customer 2",
    "--api magento customer update --customer 1 --address 2 --city Reno --region-code NV --postcode 89501",
    "--api magento customer update --customer amina.haddad@example.com --clear dob --custom-attribute loyalty=gold",
    "--api magento customer update --customer 1 --remove-address 2 --yes",
    "--api magento attribute create --code fabric --label Fabric --type select --option Linen Cotton --set Default",
    "--api magento attribute assign size --set Default",
    "--api magento attribute option add color --option Crimson",
    "--api magento attribute option default color Red",
    "--api magento attribute show color",
    "--api magento attribute list",
    "--api magento attribute export",
    "--api magento order list --customer amina.haddad@example.com",
    "--api magento order show 000000002",
    "--api magento order update 000000002 --shipping --postcode 10119 --comment 'The customer called'",
    "--api magento order update 000000003 --shipping --from-address 2",
    "--api magento product show mug-blue",
    "--api magento product set umbrella weight=1.5",
    "--api magento product set mug-blue name=Mug --store-view default",
    "--api magento product export --set Default --attributes name,weight --to shop.csv",
    "--api magento quote show --customer 1",
    "--api magento quote methods --customer 1",
    "--api magento quote add-item --customer 1 --sku umbrella --qty 1 --verify",
    "--api magento quote set-item --customer 1 --item 1 --qty 3",
    "--api magento quote remove-item --customer 1 --item 1",
    "--api magento quote clear --customer 1 --yes",
    "--api magento quote ship --customer 1 --ship-to-address 1 --bill-same-as-ship --carrier flatrate --method flatrate --payment-method checkmo",
    "--api magento api GET /V1/customers/1 --admin",
    "--api magento doctor",
];

/// Those that read a log. The history that they begin with is [`HISTORY`].
pub const LOG: &[&str] = &[
    "--api magento history",
    "--api magento history --customer 2",
    "--api magento history latest",
    "--api magento history 1",
    "--api magento verify latest",
    "--api magento verify 1",
    "--api magento verify 2",
    "--api magento verify 4",
    "--api magento verify 5",
    "--api magento verify --customer 2",
    "--api magento undo 1 --yes",
    "--api magento undo 2 --yes",
    "--api magento undo 3 --yes --allow-delete 1",
    "--api magento undo 4 --yes",
    "--api magento undo 5 --yes",
    "--api magento undo 6 --yes",
    "--api magento undo 7 --yes --allow-delete 1",
    "--api magento undo 1 --whole-profile --yes",
    "--api magento forget --customer 2 --yes",
    "--api magento forget --older-than 30d --yes",
    "--api magento customer update --customer 1 --address 2 --city Reno --region-code NV --postcode 89501",
    "--api magento customer update --customer 2 --gender 2",
    "--api magento order update 000000002 --shipping --postcode 10119",
    "--api magento product set umbrella weight=1.5",
    "--api magento quote add-item --customer 1 --sku umbrella --qty 1",
    "--api magento doctor",
];

/// What a log holds before.
pub const HISTORY: &[&str] = &[
    "--api magento customer update --customer 2 --gender 1",
    "--api magento customer update --customer 1 --address 2 --city Reno --region-code NV --postcode 89501",
    "--api magento attribute create --code fabric --label Fabric --type select --option Linen Cotton --set Default",
    "--api magento order update 000000002 --shipping --postcode 10119",
    "--api magento product set umbrella weight=1.5",
    "--api magento quote add-item --customer 1 --sku umbrella --qty 1",
    "--api magento customer update --customer 2 --add-address --address-firstname A --address-lastname B --street s \
     --city Berlin --postcode 10115 --country DE --region-id 82 --telephone +49301234567",
    "--api magento customer update --customer 1 --remove-address 2 --yes",
];

/// Those that read a journal beside the input [`INPUT`].
pub const JOURNAL: &[&str] = &[
    "--api magento customer update --input in.ndjson --jobs 1",
    "--api magento customer update --input in.ndjson --jobs 1 --resume --retry-unknown --retry-failed",
    "--api magento resume in.ndjson.journal",
    "--api magento history in.ndjson.journal",
    "--api magento history in.ndjson.journal --csv",
    "--api magento history in.ndjson.journal --rows",
    "--api magento verify in.ndjson.journal",
    "--api magento undo in.ndjson.journal --plan back.plan",
];

/// What is run before one of [`REPLIES`] that changes an item of a cart.
pub const WITH_ITEM: &str = "--api magento quote add-item --customer 1 --sku umbrella --qty 1";

/// The input of a batch in the other interface.
pub const OF_MARKETPLACE: &str =
    "{\"gender\":1}\n{\"lastname\":\"B\",\"addresses\":[{\"id\":1,\"postcode\":\"10119\"}]}\n";

/// The input of a batch.
pub const INPUT: &str = "{\"customer\":2,\"gender\":1}\n{\"customer\":2,\"lastname\":\"B\"}\n\
     {\"customer\":1,\"addresses\":[{\"id\":1,\"postcode\":\"10119\"}]}\n";

/// Those that read the plan `a.plan`.
pub const PLAN: &[&str] = &[
    "--api magento apply a.plan --dry-run",
    "--api magento apply a.plan --yes",
    "--api magento apply a.plan --yes --only 1",
    "--api marketplace apply a.plan --yes",
];

/// What the plans are made of.
pub const PLANNED: &[&str] = &[
    "--api magento customer update --input in.ndjson --plan a.plan",
    "--api magento customer update --customer 1 --remove-address 2 --plan a.plan",
    "--api magento quote add-item --customer 1 --sku umbrella --qty 1 --plan a.plan",
    "--api magento order update 000000002 --shipping --postcode 10119 --plan a.plan",
    "--api magento product set umbrella weight=1.5 --plan a.plan",
    "--api magento attribute create --code fabric --label Fabric --type select --option Linen Cotton --plan a.plan",
    "--api marketplace customer update --input in.ndjson --plan a.plan",
];

/// Those that read the input `a`, whose format they name.
pub const INPUTS: &[&str] = &[
    "--api magento customer update --input a --input-format csv --dry-run",
    "--api magento customer update --input a --input-format ndjson --dry-run",
    "--api magento customer update --input a --input-format json --customer 2 --dry-run",
    "--api magento customer update --input a --input-format csv --encoding windows-1252 --dry-run",
    "--api magento customer update --input a --input-format csv --encoding shift_jis --dry-run",
    "--api magento attribute create --input a --input-format csv --dry-run",
    "--api magento attribute create --input a --input-format ndjson --dry-run",
    "--api magento attribute option add --input a --input-format csv --dry-run",
    "--api magento order update --input a --input-format csv --dry-run",
    "--api magento product set --input a --input-format csv --dry-run",
    "--api magento quote add-item --customer 1 --input a --input-format csv --dry-run",
    "--api magento quote ship --customer 1 --input a --input-format json --dry-run",
    "--api marketplace customer update --input a --input-format csv --dry-run",
    "--api marketplace quote add-item --input a --input-format csv --dry-run",
    "--api marketplace quote ship --input a --input-format ndjson --dry-run",
    "--api marketplace attribute create --input a --input-format csv --dry-run",
    "--api magento attribute diff a",
];
