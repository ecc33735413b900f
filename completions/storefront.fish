complete --keep-order --exclusive --command storefront --arguments "(STOREFRONT_COMPLETE=fish storefront -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
