# Restores the workspace to the tree $TREE.
restore_tree "$TREE"
echo "$TREE"
